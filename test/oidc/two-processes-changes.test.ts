import { setTimeout as sleep } from 'node:timers/promises'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { PageBrowser } from '../support/page-browser.ts'
import { type Pair, type PairTenant, startPair } from '../support/pair.ts'
import type { ServerProcess } from '../support/process.ts'
import { makeAssertion, makeKey, makeProof } from '../support/proofs.ts'
import { inTurns } from '../support/round-robin.ts'
import {
  authorizePath,
  type Provider,
  REDIRECT_URI,
  refreshWith,
  tokenRequest,
  userinfoOf,
} from './provider.ts'
import { arriveBy, discover } from './ways.ts'

// What is changed at one process must hold at the other within a second. Redis tells at once; without it, what a process
// keeps in memory is a second old at most.

/** A second, and what a busy machine adds to it. */
const SOON = { timeout: 3000, interval: 25 }
const ACTIVATE_IN_SECONDS = 2

// The embedded database is one process's.
describe.runIf(inject('database').kind === 'postgres')('what one of two processes did', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair()
  }, 90_000)
  afterAll(() => pair?.stop())

  const redisFaults = () =>
    Promise.all(
      pair.servers.map(async ({ origin }) => {
        const ready = (await (await fetch(`${origin}/health/ready`)).json()) as { degraded?: object }
        return Object.keys(ready.degraded ?? {}).join()
      }),
    )

  describe.each([
    ['Redis', '', async () => {}],
    ['a Redis that hangs', 'redis', () => pair.redis.freeze()],
    ['a Redis that was killed', 'redis', async () => pair.redis.cut()],
  ])('with %s', (_name, fault, happen) => {
    let tenant: PairTenant
    let one: ServerProcess
    let other: ServerProcess
    beforeAll(async () => {
      await happen()
      await vi.waitFor(async () => expect(await redisFaults()).toEqual([fault, fault]), { timeout: 10_000 })
      ;[one, other] = pair.servers
      pair.balancer.route([one.origin, other.origin], inTurns())
      tenant = await pair.newTenant()
    })

    /** The protocol at one of the processes. */
    const at = ({ origin }: ServerProcess) => ({ origin }) as Provider
    const machineFields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
    const machineGrant = { grant_type: 'client_credentials' }

    test.concurrent('a client is there, changed, has another secret and is gone at the other', async ({
      expect,
    }) => {
      const client = await tenant.makeClient(machineFields, one)
      const ask = async (secret: string, scope = 'users:read') => {
        const by = { id: client.id, secret }
        return (
          (await tokenRequest(at(other), tenant.slug, by, { ...machineGrant, scope })).body.error ?? 'token'
        )
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

    test.concurrent('an address that a client no longer has gets no answer at the other', async ({
      expect,
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

    test.concurrent('security 35: an assertion or proof that it took is refused by the other, also when both have it at once', async ({
      expect,
    }) => {
      const key = await makeKey()
      const client = await tenant.makeClient({ ...machineFields, jwks: { keys: [key.jwk] } }, one)
      const assertion = () => makeAssertion(key, { clientId: client.id, audience: tenant.issuer })
      const url = `${tenant.issuer}/oidc/token`
      const ask = async (server: ServerProcess, clientAssertion: string, proof?: string) => {
        const form = {
          ...machineGrant,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: clientAssertion,
        }
        const dpop = proof === undefined ? undefined : { dpop: proof }
        const { body, headers } = await tokenRequest(at(server), tenant.slug, null, form, dpop)
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

    test.concurrent('security 27, 28: a lock closes userinfo, introspection and refresh at the other', async ({
      expect,
    }) => {
      const { person, client, redeem } = await arriveBy({}, pair, tenant)
      const { access_token: token, refresh_token: refreshToken = '' } = await redeem()
      const userinfo = async () => (await userinfoOf(at(other), tenant.slug, token)).status
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
      const refreshed = await refreshWith(at(other), tenant.slug, client, refreshToken)
      expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    })

    test.concurrent('new keys sign at both, and nobody who verifies is ever without them', async ({
      expect,
    }) => {
      const client = await tenant.makeClient(machineFields)
      const config = await discover(tenant, client.id, oidc.ClientSecretBasic(client.secret))
      // Who meets a key that it has not seen asks for it, whichever process that comes to.
      const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''), {
        cooldownDuration: 0,
      })
      const url = new URL(`${tenant.issuer}/api/v1/users?pageSize=1`)
      const good = new Map<string, number>()
      const failures: unknown[] = []
      let isOver = false
      async function useOnce() {
        const { access_token: token } = await oidc.clientCredentialsGrant(config)
        await jwtVerify(token, keys, { issuer: tenant.issuer, typ: 'at+jwt' })
        const { status } = await oidc.fetchProtectedResource(config, token, url, 'GET')
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
