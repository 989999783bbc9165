"""All generated tasks of the shop's administration."""

from agentrl.envs.webarena.tasks.template import Template
from agentrl.envs.webarena.tasks.templates.admin import (
    catalog,
    findings,
    information,
    navigation,
    orders,
    records,
    reports,
)

TEMPLATES: tuple[Template, ...] = (
    *information.TEMPLATES, *findings.TEMPLATES, *reports.TEMPLATES,
    *navigation.TEMPLATES, *orders.TEMPLATES,
    *catalog.TEMPLATES, *records.TEMPLATES,
)  # fmt: skip
