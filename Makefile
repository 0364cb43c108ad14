# make install: make .venv with the pinned packages.
# make demo: set up, run five methods on images that need no download, show a table.   make test: set up, run the tests.
# make site: set up, write all pages and shipped results as a web site to build/site.
# make notebook: set up, run the code of docs/python.md and store it with what it prints: docs/notebook.ipynb.
PYTHON ?= python3
# The versions that the shipped results were made with; CONSTRAINTS=/dev/null takes the newest.
CONSTRAINTS ?= constraints.txt
BIN := .venv/bin

# One BLAS thread per process: several workers with several threads each are many times slower.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

.PHONY: install demo test lint site notebook clean

install: .venv/.done

demo: .venv/.done
	$(BIN)/python run.py experiment=demo method=random_rankings runner.points=10
	$(BIN)/python run.py experiment=demo
	$(BIN)/python -m scripts.make_table table=demo selection=default_params notes=short
	$(BIN)/python -m scripts.make_figure figure=acc_vs_size study=demo dataset=mnist500 selection=default_params
	@echo "The figure is in results/demo/figures/, the CSVs are in results/demo/<dataset>/<method>/.  Next, for a table of yours:"
	@echo "  $(BIN)/python run.py data=FILE.csv label=COLUMN method=mcfs"

# Compiled first, as each of the many processes of the tests would do it again where Python is told not to write.  A file
# of tests goes to one worker: what its tests share is made once; tests/conftest.py says which files come first.
test: .venv/.done
	$(BIN)/python -m compileall -q datasets methods metrics runners scripts run.py ufs_bench
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

lint: .venv/.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p build/types/ufs_bench
	ln -sfn $(addprefix ../../../,datasets methods metrics runners scripts $(wildcard ufs_bench/*.py)) build/types/ufs_bench/
	$(BIN)/mypy

site: .venv/.done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[site]'
	mkdir -p build/pages
	$(BIN)/sphinx-build -q -c docs build/pages build/site

# pip compiles on one processor, and the tests of every package, too; as for pip, a file that cannot be is no error.
# Compiled loops of a checkout from before the one package name modules that are gone, and cannot be loaded.
.venv/.done: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed; name one with: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "Setting up .venv, once; this takes a minute or two."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c $(CONSTRAINTS) -e '.[test]'
	find methods metrics -name '*.nb[ic]' -delete
	-$(BIN)/python -m compileall -q -j 0 -x '/tests?/' .venv/lib
	@touch $@

# jupytext takes the code of the page, nbconvert runs it in an empty folder.
notebook: .venv/.done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[notebook]'
	rm -rf build/notebook && mkdir -p build/notebook
	$(BIN)/jupytext --quiet --to ipynb docs/python.md --output build/notebook/notebook.ipynb
	$(BIN)/jupyter-nbconvert --log-level ERROR --to notebook --execute --inplace build/notebook/notebook.ipynb \
	    --ExecutePreprocessor.record_timing=False --ExecutePreprocessor.kernel_name=python3
	cp build/notebook/notebook.ipynb docs/notebook.ipynb

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache
