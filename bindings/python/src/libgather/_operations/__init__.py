"""Operations and plans on arrays of any kind."""
