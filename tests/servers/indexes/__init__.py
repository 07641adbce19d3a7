"""An npm and a Python index on loopback, in the shapes that the real ones document."""

from tests.servers.indexes.documents import file, packument, project_json, slsa_answer, statement
from tests.servers.indexes.server import Answer, Asked, PackageIndex

__all__ = ["Answer", "Asked", "PackageIndex", "file", "packument", "project_json", "slsa_answer", "statement"]
