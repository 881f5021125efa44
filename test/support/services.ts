/**
 * Whether PostgreSQL and Redis answer. Where they do, measurements of time, memory, load and query plans run, and the longest
 * other files, which a new user's machine need not repeat; where they do not, the tests of the embedded
 * database run.
 */
export const hasServices = Boolean(process.env.REDIS_URL)

/** Folders whose tests ask nothing of the embedded database that others do not: they run with PostgreSQL and Redis only. */
const LONG_FOLDERS =
  /\/test\/(cli|conformance|contract|coordination|delivery|keys|languages|pages|security|tools)\//

/** Whether a test file is left to the run with PostgreSQL and Redis. */
export const isLeftOut = (file: string): boolean =>
  !hasServices && LONG_FOLDERS.test(file.replaceAll('\\', '/'))
