"""What people and programs are told about plans and their differences."""
