"""Numbers as JSON spells them: bounds and multiples, decided digit by digit."""
