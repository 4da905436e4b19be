-- The charge alone, for a submit that is refused whatever else there is.
SELECT budget.affordable, budget.refuses_unaddressed, budget.refuses_addressed, budget.resets_in_ms
FROM budget
