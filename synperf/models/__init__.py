"""Models: a config.json of Hugging Face, by path or by a name of the catalog, and what follows from it."""

from .catalog import names
from .description import Model
from .read import model

__all__ = ["Model", "model", "names"]
