import { expect } from 'vitest'
import { runCleanup } from '../../src/jobs/cleanup.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

const DAY_MS = 86_400_000

test('a client of open registration is deleted after 30 days unless a user consented to it', async ({
  tenant,
  newPerson,
}) => {
  const add = (id: string, days: number) =>
    dbFor(tenant).client.create({
      data: {
        tenantId: tenant,
        id,
        name: id,
        appType: 'native',
        type: 'login',
        registeredBy: 'open-registration',
        documentFreshUntil: new Date(Date.now() - days * DAY_MS),
      },
    })
  const ids = ['client_young', 'client_old', 'client_used']
  for (const [index, days] of [29, 31, 31].entries()) await add(ids[index] as string, days)
  const user = await newPerson()
  await dbFor(tenant).consent.create({
    data: { tenantId: tenant, userId: user.id, clientId: 'client_used', scopes: [] },
  })
  await runCleanup()
  const left = await dbFor(tenant).client.findMany({ where: { tenantId: tenant, id: { in: ids } } })
  expect(left.map(({ id }) => id).sort()).toEqual(['client_used', 'client_young'])
})
