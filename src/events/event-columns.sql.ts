/**
 * `columns` of `buildInsertEventsSql`: the subjects of events that a statement takes from its own rows. They
 * equal the subjects that the constructors of these event types set.
 */

/** `row` has "id", "userId", "sessionId" and "clientId" of a grant. */
export const toGrantEventColumns = (row: string) => ({
  userId: `${row}."userId"`,
  sessionId: `${row}."sessionId"`,
  subjectIds: `ARRAY[${row}."id", ${row}."clientId"]`,
})

/** `row` has "id", "userId" and "clientId" of a session. */
export const toSessionEventColumns = (row: string) => ({
  userId: `${row}."userId"`,
  sessionId: `${row}."id"`,
  subjectIds: `array_remove(ARRAY[${row}."clientId"], NULL)`,
})
