"""The command table, from which menus, toolbar, palette and key list are generated."""

from app.actions.build import Actions
from app.actions.declarations import COMMANDS, LOCAL_KEYS, MENUS, Command
from app.actions.keys import keys_of, native, set_tip, with_keys

__all__ = ["COMMANDS", "LOCAL_KEYS", "MENUS", "Actions", "Command", "keys_of", "native", "set_tip", "with_keys"]
