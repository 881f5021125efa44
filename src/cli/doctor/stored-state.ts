import { UnsealError, unseal } from '../../core/crypto.ts'
import type { Query } from '../../database/single-connection.ts'
import { SIGNING_PERIOD_SECONDS } from '../../keys/key-rotation.ts'
import { SEAL_PURPOSE } from '../../keys/keys.ts'
import { type Finding, fail, formatAge, formatCount, ok, warn } from './finding.ts'

/** A message that is due for longer has no process that takes it. */
const STUCK_SECONDS = 300
/** The rotation looks for due keys each minute. */
const OVERDUE_SECONDS = 3600
const NAMED = 3

/** The age of the oldest key that still signs without a successor, and whether ENCRYPTION_KEY opens keys. */
async function checkKeys(query: Query): Promise<Finding[]> {
  const [newest] = await query<{ privateKey: string }>(
    `SELECT "privateKey" FROM "SigningKey" ORDER BY "activeAt" DESC LIMIT 1`,
  )
  if (!newest) return [ok('keys', 'no tenant yet')]
  try {
    unseal(SEAL_PURPOSE, newest.privateKey)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    return [
      fail(
        'keys',
        'ENCRYPTION_KEY does not open the signing keys of this database',
        'Set the ENCRYPTION_KEY that the database was written with.',
      ),
    ]
  }
  const [oldest] = await query<{ tenantId: string; age: number }>(
    `SELECT "tenantId", extract(epoch FROM now() - "activeAt")::float8 AS "age" FROM "SigningKey"
     WHERE "expiresAt" IS NULL ORDER BY "activeAt" LIMIT 1`,
  )
  const { tenantId = '', age = 0 } = oldest ?? {}
  const found = `the oldest one signs for ${formatAge(Math.max(0, age))} (tenant ${tenantId})`
  return [
    age > SIGNING_PERIOD_SECONDS + OVERDUE_SECONDS
      ? fail(
          'keys',
          found,
          `Keys are replaced after 90 days by a running server: see its log, or run vestibule key rotate --tenant ${tenantId}.`,
        )
      : ok('keys', found),
  ]
}

/** The queues: their rows that wait, and the age of the oldest one that is due. */
const QUEUES = [
  { name: 'logout', rows: '"LogoutDelivery"', due: '"nextAt"', word: 'logout message' },
  {
    name: 'webhooks',
    rows: '"WebhookDelivery" d JOIN "Webhook" w ON w."tenantId" = d."tenantId" AND w."id" = d."webhookId" AND w."enabled" AND w."failingSince" IS NULL',
    where: 'd."finishedAt" IS NULL',
    due: 'd."nextAt"',
    word: 'webhook message',
  },
  { name: 'jobs', rows: '"BulkJob"', where: '"finishedAt" IS NULL', due: '"createdAt"', word: 'bulk job' },
] as const

/** Messages wait for their time; those that are due for minutes have no process that takes them. */
async function checkQueues(query: Query): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { name, rows, due, word, ...rest } of QUEUES) {
    const where = 'where' in rest ? `WHERE ${rest.where}` : ''
    const [row] = await query<{ count: number; age: number | null }>(
      `SELECT count(*)::int AS "count", extract(epoch FROM now() - min(${due}))::float8 AS "age" FROM ${rows} ${where}`,
    )
    const { count, age } = { count: row?.count ?? 0, age: Math.max(0, row?.age ?? 0) }
    const found = `${formatCount(count, word)}${age > 0 ? `, the oldest due for ${formatAge(age)}` : ''}`
    const isStuck = name === 'jobs' ? age > STUCK_SECONDS * 12 : age > STUCK_SECONDS
    findings.push(
      isStuck
        ? fail(`queues.${name}`, found, 'Start the server, or see its log for why it does not take them.')
        : ok(`queues.${name}`, found),
    )
  }
  return findings
}

/** The webhooks that are switched off, and those whose receiver does not answer. */
async function checkConsumers(query: Query): Promise<Finding[]> {
  const rows = await query<{ tenantId: string; id: string; enabled: boolean; total: number }>(
    `SELECT "tenantId", "id", "enabled", (count(*) OVER ())::int AS "total" FROM "Webhook"
     WHERE NOT "enabled" OR "failingSince" IS NOT NULL ORDER BY "enabled", "tenantId", "id" LIMIT ${NAMED}`,
  )
  const [first] = rows
  if (!first) return [ok('consumers', 'every webhook is enabled and answers')]
  const names = rows.map(({ tenantId, id, enabled }) => `${tenantId}/${id} ${enabled ? 'fails' : 'disabled'}`)
  const more = first.total > rows.length ? [`${first.total - rows.length} more`] : []
  return [
    warn(
      'consumers',
      [...names, ...more].join(', '),
      'See vestibule webhook deliveries; vestibule webhook update ID --set enabled=true sends what is missing.',
    ),
  ]
}

/** What the server stores: keys, queues and consumers. The migrations are applied. */
export const checkStoredState = async (query: Query): Promise<Finding[]> => [
  ...(await checkKeys(query)),
  ...(await checkQueues(query)),
  ...(await checkConsumers(query)),
]
