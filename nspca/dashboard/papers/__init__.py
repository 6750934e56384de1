"""The papers page: what the four papers print, what came out here, and computing it again."""
