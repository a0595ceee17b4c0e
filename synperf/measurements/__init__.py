"""Measured rows, from every source in one schema."""

from .audit import FileAudit
from .files import audit_file, family_in, read_file, read_files
from .schema import Rows

__all__ = ["FileAudit", "Rows", "audit_file", "family_in", "read_file", "read_files"]
