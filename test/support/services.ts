/**
 * Whether PostgreSQL and Redis answer. Where they do, measurements of time, memory, load and query plans run; where they
 * do not, the tests of the embedded database.
 */
export const hasServices = Boolean(process.env.REDIS_URL)
