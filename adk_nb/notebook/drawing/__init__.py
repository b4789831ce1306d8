"""Pictures: graphs, trees and timelines as SVG, and as text."""
