import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect } from 'vitest'
import { REVOCABLE_TABLES } from '../../src/access/revocation/revocation.sql.ts'
import { test } from '../support/catalog.ts'

/** Tables that look as if their rows permitted something, and why revocation leaves them alone. */
const OTHER_TABLES: Record<string, string> = {
  AddressChange: 'its code works only for the signed-in session that asked for it, which revocation ends',
  ClientSecret: "is the client's own: rotated and deleted by changes of the client",
  FormerAddress: 'is the address that a user had, for streams of shared signals',
  SignalSubject: 'says whose events a stream of shared signals has',
  Event: 'is history; the hash of an address permits nothing',
  LogoutDelivery: 'notifies a client of a session that has ended',
  PushedRequest: 'is parameters of a client: a user has to sign in before it is of use; ends with the client',
  IdentityProvider:
    'is configuration of the tenant; its clientId and secret are those of the tenant at the provider',
  Invitation:
    'lets a person become a user, or a user have roles, once; it signs no existing user in, and a locked user cannot accept it',
  ProviderSession:
    'says where a session came from, and keeps the ID token for the logout there; ends with the session',
  ScimUser: 'is what a SCIM client knows of a user; its externalId signs nobody in',
  Interaction: 'is a sign-in that has not succeeded yet; a session that it refers to is checked at each step',
}

describe('revocable tables', () => {
  test('are all tables that have an owner and a secret or an expiry, except those with a reason', async ({
    readCatalog,
  }) => {
    const rows = await readCatalog<{ table: string }>(
      `SELECT c."table_name" AS "table" FROM information_schema.columns c
       WHERE c."table_schema" = current_schema()
       GROUP BY c."table_name"
       HAVING bool_or(c."column_name" IN ('userId', 'clientId', 'sessionId'))
         AND bool_or(c."column_name" ~ '([hH]ash|[tT]oken|[sS]ecret|publicKey)$' OR c."column_name" IN ('expiresAt', 'externalId'))
       ORDER BY c."table_name" COLLATE "C"`,
    )
    const named = [...Object.keys(REVOCABLE_TABLES), ...Object.keys(OTHER_TABLES)]
    expect(rows.map(({ table }) => table)).toEqual(named.sort())
  })

  test('are either revocable or exempt, never both', () => {
    expect(Object.keys(OTHER_TABLES).filter((table) => table in REVOCABLE_TABLES)).toEqual([])
  })
})

/**
 * Ends a session, revokes a grant, or deletes or voids codes: by SQL, by Prisma, or by a table name that a helper is
 * given.
 */
const TAKES_ACCESS = [
  /"(endedAt|revokedAt)" = /,
  /\b(endedAt|revokedAt): (now|new Date)/,
  /DELETE FROM "DeviceCode"/,
  /"codeGeneration" = "codeGeneration"/,
  /\.deviceCode\.delete/,
]

describe('source files', () => {
  test('take access away in src/access only', async () => {
    const src = join(import.meta.dirname, '../../src')
    const paths = (await readdir(src, { recursive: true })).filter(
      (path) => /\.tsx?$/.test(path) && !path.startsWith('generated'),
    )
    const found: string[] = []
    for (const path of paths) {
      const text = await readFile(join(src, path), 'utf8')
      if (TAKES_ACCESS.some((pattern) => pattern.test(text))) found.push(path)
    }
    const inAccess = (path: string) => path.startsWith(join('access', '/'))
    expect(found.filter(inAccess).map((path) => basename(path))).toContain('revocation-parts.sql.ts')
    expect(found.filter((path) => !inAccess(path))).toEqual([])
  })
})
