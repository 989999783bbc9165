"""All generated tasks of the shop's administration."""

from agentrl.envs.webarena.tasks import (
    admin_catalog,
    admin_findings,
    admin_information,
    admin_navigation,
    admin_orders,
    admin_records,
    admin_reports,
)
from agentrl.envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    *admin_information.TEMPLATES, *admin_findings.TEMPLATES, *admin_reports.TEMPLATES,
    *admin_navigation.TEMPLATES, *admin_orders.TEMPLATES,
    *admin_catalog.TEMPLATES, *admin_records.TEMPLATES,
)  # fmt: skip
