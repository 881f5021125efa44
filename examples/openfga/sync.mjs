import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as client from 'openid-client'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, FGA } = process.env
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  execute: [client.allowInsecureRequests], // http, in development only
})

async function callFga(path, body) {
  const response = await fetch(FGA + path, { method: 'POST', body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${path}: ${answer.message}`)
  return answer
}

/** The store, and the position of the last event that it has. */
const read = (name) => {
  try {
    return readFileSync(name, 'utf8')
  } catch {
    return ''
  }
}
let store = read('store')
if (!store) {
  store = (await callFga('/stores', { name: 'vestibule' })).id
  await callFga(`/stores/${store}/authorization-models`, JSON.parse(readFileSync('model.json', 'utf8')))
  writeFileSync('store', store)
}
console.log(`Store ${store}`)

let token = await client.clientCredentialsGrant(config, { scope: 'events:read' })
let after = read('position')
for (;;) {
  if (token.expiresIn() < 60) token = await client.clientCredentialsGrant(config, { scope: 'events:read' })
  const query = new URLSearchParams({
    types: 'membership.created,membership.deleted',
    pageSize: 1000,
    ...(after && { after }),
  })
  const answer = await fetch(`${ISSUER}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${token.access_token}` },
  })
  if (!answer.ok) throw new Error(await answer.text())
  const { events } = await answer.json()
  // In the order of the log. An event that is repeated after a crash changes nothing.
  for (const { type, userId, organizationId, position } of events) {
    const tuple = { user: `user:${userId}`, relation: 'member', object: `organization:${organizationId}` }
    const change =
      type === 'membership.created'
        ? { writes: { tuple_keys: [tuple], on_duplicate: 'ignore' } }
        : { deletes: { tuple_keys: [tuple], on_missing: 'ignore' } }
    await callFga(`/stores/${store}/write`, change)
    after = position
    writeFileSync('position', after)
  }
  if (events.length < 1000) await sleep(1000)
}
