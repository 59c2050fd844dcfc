"""Everything that the user can do, in one table: menus, toolbar, palette and key list are made from it."""

from app.actions.build import Actions
from app.actions.table import COMMANDS, MENUS, Command

__all__ = ["COMMANDS", "MENUS", "Actions", "Command"]
