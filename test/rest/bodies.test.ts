import { describe, expect } from 'vitest'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { test as base } from '../support/fixtures.ts'
import { addSignalStream } from '../support/signal-streams.ts'

const withBody = restRoutes.filter(
  ({ body, ndjson, path }) => body && !ndjson && !path.startsWith('/tenants'),
)
const RAW_WORDS = /Invalid input|expected|received|undefined/i

/** `test` with the paths of all operations that have a body, about objects that exist. */
const test = base.extend('pathOf', { scope: 'file' }, async ({ create, ctx, rest, newClient, newPerson }) => {
  const { id: clientId } = await newClient()
  const { id: userId } = await newPerson()
  const idpId = 'bodies'
  const idp = {
    id: idpId,
    type: 'google',
    name: 'x',
    clientId: 'x',
    signalsIssuer: 'https://signals.example',
  }
  expect((await rest('POST', '/idps', idp)).status).toBe(201)
  if (!create) throw new Error('no fixtures')
  const { id: organizationId } = await create('/organizations', { name: 'x', slug: 'bodies' })
  const { id: organizationDomainId } = await create(`/organizations/${organizationId}/domains`, {
    domain: 'bodies.example',
  })
  const { id: apiKeyId } = await create('/api-keys', { name: 'Export' })
  const { id: webhookId } = await create('/webhooks', { url: 'https://hooks.example' })
  const { body: message } = await rest('POST', `/webhooks/${webhookId}/test`)
  const webhookDeliveryId = message.id as string
  const ids: Record<string, string> = {
    clientId,
    userId,
    idpId,
    organizationId,
    organizationDomainId,
    apiKeyId,
    webhookId,
    webhookDeliveryId,
    signalStreamId: await addSignalStream(ctx, clientId),
  }
  return (path: string) => path.replaceAll(/:(\w+)/g, (_all, name: string) => ids[name] ?? name)
})

describe('a JSON body that is not an object', () => {
  test.for(withBody.map(({ method, path }) => [method, path] as const))(
    'is rejected by %s %s in the words of the API',
    async ([method, path], { pathOf, rest }) => {
      for (const body of [null, [], [{}], 'x', '', 7, true]) {
        const answer = await rest(method, pathOf(path), body)
        const seen = { body, status: answer.status, fields: answer.body.fields }
        expect(seen).toEqual({ body, status: 400, fields: [{ field: '', description: 'must be an object' }] })
        expect(JSON.stringify(answer.body)).not.toMatch(RAW_WORDS)
      }
    },
  )
})

describe('an operation whose body is optional', () => {
  const optional = withBody.filter(({ isBodyOptional }) => isBodyOptional)
  test.for(optional.map(({ method, path, status = 200 }) => [method, path, status] as const))(
    'accepts %s %s without a body, whatever Content-Type says',
    async ([method, path, status], { app, tenant, token, ctx, newPerson, pathOf }) => {
      const urlOf = (id: string, invitationId = id) =>
        `/${tenant}/api/v1${pathOf(path.replace(':userId', id).replace(':invitationId', invitationId))}`
      for (const type of [null, 'application/json', 'text/plain']) {
        const headers = { authorization: `Bearer ${token}`, ...(type !== null && { 'content-type': type }) }
        // A user, or an invitation, gets one link in half a minute.
        const { id, email } = await newPerson()
        const sentAt = new Date(Date.now() - 60_000)
        // A stream is verified once in a while.
        await ctx.db.prisma.signalStream.updateMany({
          where: { tenantId: tenant },
          data: { verifiedAt: null },
        })
        const url = urlOf(id, (await createInvitation(ctx, { email }, sentAt)).id)
        const answer = await app.fetch(url, { method, headers, ...(type !== null && { body: '' }) })
        expect([path, type, answer.status]).toEqual([path, type, status])
      }
      const text = await app.fetch(urlOf('user_x'), {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
        body: '{}',
      })
      expect(text.status).toBe(415)
    },
  )
})

describe('an operation of tenant system', () => {
  test('says in another tenant that it exists in system only', async ({ rest }) => {
    const answer = await rest('POST', '/tenants', { slug: 'bodies' })
    expect([answer.status, answer.body.message]).toEqual([403, 'This exists in tenant system only.'])
  })
})
