import { setTimeout as sleep } from 'node:timers/promises'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, vi } from 'vitest'
import { PageBrowser } from '../support/page-browser.ts'
import type { Pair, PairTenant } from '../support/pair.ts'
import { readDegraded, test } from '../support/pair-test.ts'
import type { ServerProcess } from '../support/process.ts'
import { makeAssertion, makeKey, makeProof } from '../support/proofs.ts'
import { authorizePath, REDIRECT_URI, refreshWith, tokenRequest, userinfoOf } from '../support/protocol.ts'
import { inTurns } from '../support/round-robin.ts'
import { authorizeBy, discover } from '../support/sign-in-variants.ts'

// Without Redis, what two processes cache is a second old at most.

/** A second, and the delay of a busy machine. */
const SOON = { timeout: 3000, interval: 25 }
const ACTIVATE_IN_SECONDS = 2
const MACHINE = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
const GRANT = { grant_type: 'client_credentials' }

describe.skipIf(!process.env.REDIS_URL)('a change at one of two processes', () => {
  // Starting both takes longer than a hook may by default.
  test.beforeAll(({ pair: _ }) => {}, 90_000)

  describe.each<[name: string, degraded: string, happen: (pair: Pair) => Promise<void>]>([
    ['Redis', '', async () => {}],
    ['a Redis that hangs', 'redis', ({ redis }) => redis.freeze()],
    ['a Redis that was stopped', 'redis', async ({ redis }) => redis.cut()],
  ])('with %s', (_name, degraded, happen) => {
    let tenant: PairTenant
    test.beforeAll(async ({ pair, origins }) => {
      await happen(pair)
      const waiting = { timeout: 10_000 }
      await vi.waitFor(async () => expect(await readDegraded(pair)).toEqual([degraded, degraded]), waiting)
      pair.balancer.route(origins, inTurns())
      tenant = await pair.newTenant()
    }, 90_000)

    test.concurrent('is effective at the other within a second: a client that is created, changed, given another secret and deleted', async ({
      expect,
      one,
      other,
    }) => {
      const client = await tenant.makeClient(MACHINE, one)
      const ask = async (secret: string, scope = 'users:read') => {
        const by = { id: client.id, secret }
        return (await tokenRequest(other, tenant.slug, by, { ...GRANT, scope })).body.error ?? 'token'
      }
      expect(await ask(client.secret)).toBe('token')
      expect(await ask(client.secret, 'sessions:read')).toBe('invalid_scope')
      await tenant.manage(one, 'PATCH', `/clients/${client.id}`, { scopes: ['sessions:read'] })
      await expect.poll(() => ask(client.secret, 'sessions:read'), SOON).toBe('token')
      expect(await ask(client.secret)).toBe('invalid_scope')
      const rotation = { overlapSeconds: 0 }
      const { secret } = await tenant.manage(one, 'POST', `/clients/${client.id}/secret`, rotation)
      await expect.poll(() => ask(secret, 'sessions:read'), SOON).toBe('token')
      expect(await ask(client.secret, 'sessions:read')).toBe('invalid_client')
      await tenant.manage(one, 'DELETE', `/clients/${client.id}`)
      await expect.poll(() => ask(secret, 'sessions:read'), SOON).toBe('invalid_client')
    })

    test.concurrent('is effective at the other within a second: a redirect URI that is removed', async ({
      expect,
      one,
      other,
    }) => {
      const client = await tenant.makeClient({}, one)
      const browser = new PageBrowser(other.origin)
      const path = authorizePath(tenant.slug, client, { prompt: 'none' })
      const visit = async () => (await browser.fetch(path)).status
      expect(await visit()).toBe(303)
      const callbacks = [`${REDIRECT_URI}2`]
      await tenant.manage(one, 'PATCH', `/clients/${client.id}`, { callbacks })
      await expect.poll(visit, SOON).toBe(400)
    })

    test.concurrent('is effective at the other at once: an assertion or proof that was used', async ({
      expect,
      one,
      other,
    }) => {
      const key = await makeKey()
      const client = await tenant.makeClient({ ...MACHINE, jwks: { keys: [key.jwk] } }, one)
      const assertion = () => makeAssertion(key, { clientId: client.id, audience: tenant.issuer })
      const url = `${tenant.issuer}/oidc/token`
      const ask = async (server: ServerProcess, clientAssertion: string, proof?: string) => {
        const form = {
          ...GRANT,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: clientAssertion,
        }
        const dpop = proof === undefined ? undefined : { dpop: proof }
        const { body, headers } = await tokenRequest(server, tenant.slug, null, form, dpop)
        return { result: body.error ?? 'token', nonce: headers.get('dpop-nonce') ?? undefined }
      }
      const used = await assertion()
      expect((await ask(one, used)).result).toBe('token')
      expect((await ask(other, used)).result).toBe('invalid_client')
      const raced = await assertion()
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n % 2 ? other : one, raced)))
      expect(answers.filter(({ result }) => result === 'token')).toHaveLength(1)

      const { result, nonce } = await ask(
        one,
        await assertion(),
        await makeProof(key, { method: 'POST', url }),
      )
      expect(result).toBe('use_dpop_nonce')
      const proof = await makeProof(key, { method: 'POST', url, nonce })
      expect((await ask(other, await assertion(), proof)).result).toBe('token')
      expect((await ask(one, await assertion(), proof)).result).toBe('invalid_dpop_proof')
    })

    test.concurrent('is effective at the other within a second: the lock of a user', async ({
      expect,
      pair,
      one,
      other,
    }) => {
      const { person, client, redeem } = await authorizeBy({}, pair, tenant)
      const { access_token: token, refresh_token: refreshToken = '' } = await redeem()
      const userinfo = async () => (await userinfoOf(other, tenant.slug, token)).status
      const introspect = async () => {
        const body = new URLSearchParams({ client_id: client.id, client_secret: client.secret, token })
        const url = `${other.origin}/${tenant.slug}/oidc/introspect`
        return (await (await fetch(url, { method: 'POST', body })).json()) as { active: boolean }
      }
      expect(await userinfo()).toBe(200)
      expect((await introspect()).active).toBe(true)
      await tenant.manage(one, 'PATCH', `/users/${person.id}`, { locked: true })
      await expect.poll(userinfo, SOON).toBe(401)
      await expect.poll(introspect, SOON).toEqual({ active: false })
      const refreshed = await refreshWith(other, tenant.slug, client, refreshToken)
      expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    })

    test.concurrent('is effective without a failed verification: a key rotation', async ({ expect, one }) => {
      const client = await tenant.makeClient(MACHINE)
      const config = await discover(tenant, client.id, openid.ClientSecretBasic(client.secret))
      // An unknown key is read from either process.
      const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''), {
        cooldownDuration: 0,
      })
      const url = new URL(`${tenant.issuer}/api/v1/users?pageSize=1`)
      const good = new Map<string, number>()
      const failures: unknown[] = []
      let isOver = false
      async function useOnce() {
        const { access_token: token } = await openid.clientCredentialsGrant(config)
        await jwtVerify(token, keys, { issuer: tenant.issuer, typ: 'at+jwt' })
        const { status } = await openid.fetchProtectedResource(config, token, url, 'GET')
        if (status !== 200) throw new Error(`users: ${status}`)
        const { kid = '' } = decodeProtectedHeader(token)
        good.set(kid, (good.get(kid) ?? 0) + 1)
      }
      const load = Array.from({ length: 3 }, async () => {
        while (!isOver) {
          await useOnce().catch((error: unknown) => failures.push(error))
          await sleep(20)
        }
      })
      try {
        await expect.poll(() => good.size, SOON).toBe(1)
        const [before] = good.keys()
        const rotation = { activateInSeconds: ACTIVATE_IN_SECONDS }
        const rotated = await tenant.manage(one, 'POST', '/keys/rotate', rotation)
        const [next] = rotated.keys as { kid: string }[]
        expect(next?.kid).not.toBe(before)
        const limit = { timeout: SOON.timeout + ACTIVATE_IN_SECONDS * 1000 }
        await expect.poll(() => good.get(next?.kid ?? '') ?? 0, limit).toBeGreaterThan(10)
      } finally {
        isOver = true
        await Promise.all(load)
      }
      expect(failures).toEqual([])
      expect(good.size).toBe(2)
    })
  })
})
