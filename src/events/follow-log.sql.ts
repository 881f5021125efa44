/** Messages that wait, of a follower of the log and of a tenant, whose followers share them. Further events stay in the log. */
export const MAX_WAITING = { follower: 1000, tenant: 4000 }
/** Those of a follower of a tenant that has very many. */
const MIN_WAITING = 4

/** The columns of `buildRoomSql`: how many messages of a follower may wait, and how many more. */
export const ROOM_RETURNS = { capacity: 'int', room: 'int' } as const

/**
 * SQL of the CTE `share`, for `buildRoomSql`: the messages that may wait for each row of the followers' table.
 */
export const buildShareSql = (followers: string): string => `share AS (
    SELECT LEAST(${MAX_WAITING.follower}, GREATEST(${MIN_WAITING}, ${MAX_WAITING.tenant} / GREATEST(1, count(*))))::int AS "capacity"
    FROM "${followers}" WHERE "tenantId" = :tenant
  )`

/** SQL of the columns "capacity" and "room" of a follower `f`, of whose messages `waiting` selects those that wait. */
export const buildRoomSql = (waiting: string): string => `share."capacity", share."capacity" - (
      SELECT count(*)::int FROM (${waiting} LIMIT ${MAX_WAITING.follower}) waiting
    ) AS "room"`
