/** The values of a form as they are saved. */
export type Saved<Values> = { values: Values; updatedAt: string }

/**
 * What the person has entered, and what was saved when the first of it was. Everything else in a form follows what is
 * saved, so that a change by somebody else is neither hidden nor overwritten.
 */
export type Edits<Values> = { values: Partial<Values>; since: Saved<Values> } | null

const filterValues = <Values extends object>(
  values: Values,
  isKept: (name: keyof Values, value: unknown) => boolean,
): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => isKept(name as keyof Values, value)),
  ) as Values

const toEdits = <Values extends object>(values: Partial<Values>, since: Saved<Values>): Edits<Values> =>
  Object.keys(values).length === 0 ? null : { values, since }

/** The entries of a form without those that were sent: they were typed while the save was under way. */
export const dropSent = <Values extends object>(entered: Values, sent: Values): Values =>
  filterValues(entered, (name, value) => value !== sent[name])

/** Adds entries. One that is saved already is none, unless `isSaving`: the save may replace it. */
export function addEdits<Values extends object>(
  edits: Edits<Values>,
  added: Partial<Values>,
  { saved, isSaving }: { saved: Saved<Values>; isSaving: boolean },
): Edits<Values> {
  const values = { ...edits?.values, ...added } as Partial<Values>
  const differing = filterValues(values, (name, value) => isSaving || value !== saved.values[name])
  return toEdits(differing, edits?.since ?? saved)
}

/** The edits that remain when `sent` is saved. */
export const settleEdits = <Values extends object>(
  edits: Edits<Values>,
  sent: Partial<Values>,
  saved: Saved<Values>,
): Edits<Values> =>
  edits &&
  toEdits(
    filterValues(dropSent(edits.values, sent), (name, value) => value !== saved.values[name]),
    saved,
  )

/** The values that somebody else has changed since the first edit. */
export const listChanged = <Values extends object>(
  edits: Edits<Values>,
  saved: Saved<Values>,
): (keyof Values)[] =>
  (Object.keys(saved.values) as (keyof Values)[]).filter(
    (name) => edits !== null && edits.since.values[name] !== saved.values[name],
  )
