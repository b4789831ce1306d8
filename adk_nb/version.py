"""The version of this package, read by the build and shown as ``adk_nb.__version__``."""

__version__ = "0.1.0"
