"""Pictures of all worlds of a batch by MuJoCo Warp's ray tracer, made to look like those of MuJoCo's own renderer."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from agentrl.envs.common.warp.batch import Batch
from agentrl.envs.common.warp.loading import mjw, torch, wp

DRAWN = [0, 1, 2]  # groups of geoms, as in MuJoCo


class Camera:
    """Square pictures through a camera of a model, `size` pixels a side.

    Geoms of the group `lit` are drawn only in worlds where the mask given to `draw` is true. `data` is a usual state.
    """

    def __init__(self, model: Any, data: Any, batch: Batch, name: str, size: int, lit: int | None = None) -> None:
        self._data, self._model = batch.data, copy.copy(batch.model)  # its arrays are shared, but for three
        with batch.working():
            self._context = mjw.create_render_context(
                _from_afar(model), nworld=batch.count, cam_res=(size, size), render_rgb=True, render_depth=False,
                render_seg=False, cam_active=[name], enabled_geom_groups=DRAWN,
            )  # fmt: skip
            # OpenGL draws nothing nearer than this, such as the hand beside the camera on it; rays begin at the lens.
            near = float(model.vis.map.znear * model.stat.extent)
            rays, offsets = wp.to_torch(self._context.ray), wp.to_torch(self._context.ray_offset)
            offsets.copy_(rays * (near / -rays[:, 2:]))
            self._context.has_orthographic_camera = True  # what makes the ray tracer look at the offsets
            colours, gloss = _textures_as_in_opengl(model, float(data.cam(name).xmat[8]))
            self._model.mat_rgba = wp.array(colours[None], dtype=wp.vec4)
            self._model.mat_specular = wp.array(gloss[None], dtype=float)
            lamps = np.flatnonzero(model.geom_group == lit) if lit is not None else np.zeros(0, int)
            self._lamps = torch.tensor(lamps, device=batch.device)
            if len(lamps):  # colours for each world
                geoms = wp.array(np.tile(model.geom_rgba[None], (batch.count, 1, 1)), dtype=wp.vec4)
                self._model.geom_rgba, self._colours = geoms, wp.to_torch(geoms)
            packed = wp.to_torch(self._context.rgb_data.view(wp.int32))
            self._pixels = packed.view(torch.uint8).view(batch.count, size, size, 4)

    def draw(self, lit: torch.Tensor | None = None) -> torch.Tensor:
        """A picture of each world, uint8 [count, size, size, 3], upright; the batch must have looked."""
        if len(self._lamps) and lit is not None:
            self._colours[:, self._lamps, 3] = lit.float()[:, None]  # what is transparent is not drawn
        mjw.refit_bvh(self._model, self._data, self._context)
        mjw.render(self._model, self._data, self._context)
        return self._pixels[..., :3].flip(-1)  # a pixel is a number whose bytes are blue, green, red and alpha


def _textures_as_in_opengl(model: Any, facing: float) -> tuple[np.ndarray, np.ndarray]:
    """Colours and gloss of materials, darker and without gloss where they have a texture.

    OpenGL limits the light on a surface, gloss included, to 1 before it multiplies it by the texture; the ray tracer
    limits the product. Without this, tables and floors would be too bright, since more light falls on what lies flat.
    `facing` is the share of the headlight that does."""
    head, down = model.vis.headlight, np.maximum(-model.light_dir[:, 2], 0.0)
    light = float(head.ambient[0] + facing * head.diffuse[0] + model.light_diffuse[:, 0] @ down)
    colours, gloss, textured = model.mat_rgba.copy(), model.mat_specular.copy(), (model.mat_texid >= 0).any(axis=1)
    colours[textured, :3] /= max(light, 1.0)
    gloss[textured] = 0.0
    return colours, gloss


def _from_afar(model: Any) -> Any:
    """The model with softer textures. OpenGL takes what is far away from smaller copies of a texture; the ray tracer
    looks at single points of it, two to three apart from pixel to pixel in pictures of robots."""
    soft = copy.copy(model)
    for height, width, depth, at in zip(
        model.tex_height, model.tex_width, model.tex_nchannel, model.tex_adr, strict=True
    ):
        pixels = model.tex_data[at : at + height * width * depth].reshape(height, width, depth)
        wide = np.pad(pixels.astype(float), ((1, 1), (1, 1), (0, 0)), mode="edge")
        shifted = [wide[y : y + height, x : x + width] for y in range(3) for x in range(3)]
        soft.tex_data[at : at + pixels.size] = np.mean(shifted, axis=0).round().ravel()
    return soft
