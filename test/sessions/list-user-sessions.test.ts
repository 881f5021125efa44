import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import { listUserSessions } from '../../src/sessions/sessions.ts'
import { inMinutes, test } from '../support/sessions.ts'
import { countStatements } from '../support/statements.ts'

describe('listUserSessions', () => {
  test('returns the active sessions by page and by cursor', async ({ ctx, userId, start }) => {
    const all: string[] = []
    for (let i = 0; i < 5; i++) all.push((await start()).session.id)
    await revokeSession(ctx, all[2] ?? '')
    await start({ expiresAt: inMinutes(-1) })
    const active = all.filter((_, index) => index !== 2)
    const ids = (page: { rows: { id: string }[] }) => page.rows.map(({ id }) => id)
    const first = await listUserSessions(ctx, userId, { pageSize: 3 })
    expect(ids(first)).toEqual(active.slice(0, 3))
    expect(first).toMatchObject({ page: 0, pageSize: 3, hasNextPage: true, hasPreviousPage: false })
    expect(await first.countAll()).toBe(4)
    expect(first.rows[0]).not.toHaveProperty('tokenHash')
    expect(ids(await listUserSessions(ctx, userId, { page: 1, pageSize: 3 }))).toEqual(active.slice(3))
    const [row] = first.rows
    const after = row && first.encodeRowCursor(row)
    expect(ids(await listUserSessions(ctx, userId, { first: 2, after }))).toEqual(active.slice(1, 3))
    expect(ids(await listUserSessions(ctx, userId, { last: 2 }))).toEqual(active.slice(2))
    await expect(listUserSessions(ctx, newId('user'), {})).rejects.toThrow('No such user.')
  })

  test('sends one statement', async ({ ctx, userId }) => {
    expect(await countStatements(() => listUserSessions(ctx, userId, {}))).toBe(1)
    expect(await countStatements(() => listUserSessions(ctx, userId, { pageSize: 1000 }))).toBe(1)
  })
})
