/**
 * Whether PostgreSQL and Redis answer. Where they do, measurements of time, memory, load and query plans run, and the longest
 * other files, which a new user's machine need not repeat; where they do not, the tests of the embedded
 * database run.
 */
export const hasServices = Boolean(process.env.REDIS_URL)
