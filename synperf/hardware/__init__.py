"""What a GPU can do: `gpu(name_or_file)` from the catalog, `what_if` to change it. Importing this reads no file."""

from .calibration import Calibration
from .catalog import gpu, gpus, of_keys
from .dtype import DType
from .gpu import GPU
from .names import keys
from .what_if import what_if

__all__ = ["GPU", "Calibration", "DType", "gpu", "gpus", "keys", "of_keys", "what_if"]
