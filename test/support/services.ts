/**
 * Whether PostgreSQL and Redis answer. Where they do, measurements of time, memory, load and query plans run, and the longest
 * other files, which a new user's machine need not repeat; where they do not, the tests of the embedded
 * database run.
 */
export const hasServices = Boolean(process.env.REDIS_URL)

/** Folders whose tests ask nothing of the embedded database that others do not: they run with PostgreSQL and Redis only. */
const LONG_FOLDERS =
  /\/test\/(access|account|cli|clients|conformance|contract|coordination|delivery|events|idps|invitations|jobs|keys|languages|oidc|old-passwords|organizations|pages|passcodes|permissions|registration|security|tools|users|webhooks)\//

/** Whether a test file is left to the run with PostgreSQL and Redis. */
export const isLeftOut = (file: string): boolean =>
  !hasServices && LONG_FOLDERS.test(file.replaceAll('\\', '/'))
