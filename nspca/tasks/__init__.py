"""What runs in a worker, and the table of its names. No Streamlit.

A name never changes: the store keeps it and a run is recognised by it, so a function may move to another
module and no run is lost.
"""

TASKS = {
    "sweep": "nspca.tasks.sweep:run_sweep",
    "preview": "nspca.tasks.preview:run_preview",
    "prove": "nspca.tasks.sweep:prove_more",
    "check": "nspca.tasks.sweep:check",
    "joint": "nspca.tasks.joint:run_joint",
    "compare": "nspca.tasks.compare:run_compare",
    "components": "nspca.tasks.compare:run_components",
    "stability": "nspca.tasks.stability:run_stability",
    "joint stability": "nspca.tasks.stability:run_joint_stability",
    "choice": "nspca.tasks.choosing:run_choice",
    "noise": "nspca.tasks.choosing:run_noise",
    "genes": "nspca.tasks.compare:run_genes",
    "detection": "nspca.tasks.compare:run_detection",
    "pitprops": "nspca.tasks.compare:run_pitprops",
    "paper": "nspca.tasks.papers:run_item",
    "features": "nspca.tasks.places:run_places",
    "words": "nspca.tasks.words:run_words",
    "table": "nspca.tasks.table:run_table",
    "speed": "nspca.tasks.speed:run_speed",
}
"""Name of a task, and the function that does it today."""
