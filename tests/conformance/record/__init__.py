"""Records the conformance cases from the systems that the profiles are named after."""
