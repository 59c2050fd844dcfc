"""The bundled models and the scripts that train them: `python -m resources.models.train_shakespeare`."""
