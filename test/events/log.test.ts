import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, inject } from 'vitest'
import { Handle } from '../../src/database/handle.ts'
import { announceInsertion } from '../../src/database/insertions.ts'
import { type LogEvent, readEvents } from '../../src/events/log.ts'
import { connectToDatabase, toTx } from '../support/connections.ts'
import { listNames, test } from '../support/written-log.ts'

describe('an open transaction', () => {
  test('hides events of newer transactions until it ends, and its own events come first', async ({
    tenant,
    write,
    writeOn,
    start,
    readUntil,
    followUntil,
  }) => {
    const late = await connectToDatabase()
    await late.query('BEGIN')
    await writeOn(toTx(late, tenant), 'late-1')
    await write('early-1')
    await write('early-2')
    expect(await readEvents(new Handle({ tenant }), start, 100)).toEqual({ events: [], hidden: true })
    const followers = [followUntil(start, 5), followUntil(null, 5, 20)]
    await sleep(100)
    await writeOn(toTx(late, tenant), 'late-2')
    await write('early-3')
    await late.query('COMMIT')
    announceInsertion('Event', tenant)
    const order = ['late-1', 'late-2', 'early-1', 'early-2', 'early-3']
    expect(listNames(await readUntil(start, 5))).toEqual(order)
    for (const follower of followers) expect(listNames(await follower)).toEqual(order)
  })

  test('that is rolled back leaves no gap and no event', async ({
    tenant,
    write,
    writeOn,
    start,
    followUntil,
  }) => {
    const late = await connectToDatabase()
    await late.query('BEGIN')
    await writeOn(toTx(late, tenant), 'never')
    await write('kept')
    const follower = followUntil(start, 1)
    await late.query('ROLLBACK')
    expect(listNames(await follower)).toEqual(['kept'])
  })

  test('of another database of the cluster delays events and loses none', async ({
    tenant,

    write,
    start,
    followUntil,
  }) => {
    const elsewhere = await connectToDatabase(inject('database').adminUrl)
    await elsewhere.query('BEGIN')
    await elsewhere.query('SELECT pg_current_xact_id()')
    await write('a', 'b')
    const arrived: LogEvent[] = []
    const follower = followUntil(start, 3).then((events) => arrived.push(...events))
    await sleep(400)
    expect(arrived).toEqual([])
    expect((await readEvents(new Handle({ tenant }), start, 10)).hidden).toBe(true)
    await elsewhere.query('ROLLBACK')
    await write('c')
    await follower
    expect(listNames(arrived)).toEqual(['a', 'b', 'c'])
  })

  test('that only reads delays no event', async ({ write, start, readUntil }) => {
    const reader = await connectToDatabase()
    await reader.query('BEGIN')
    await reader.query('SELECT * FROM "Tenant"')
    await write('seen')
    expect(listNames(await readUntil(start, 1))).toEqual(['seen'])
    await reader.query('ROLLBACK')
  })
})
