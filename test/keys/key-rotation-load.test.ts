import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { rotateSigningKeys } from '../../src/keys/key-rotation.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../src/keys/signing-algorithms.ts'
import { startServer } from '../support/process.ts'
import { hasServices } from '../support/services.ts'
import { test as base } from '../support/visitor.ts'

type TestClient = { id: string; secret: string }
type Connection = {
  config: openid.Configuration
  keys: ReturnType<typeof createRemoteJWKSet>
  reads: { count: number }[]
}

/** A relying party that refreshes its tokens, and its resource server. */
type Party = {
  alg: SigningAlgorithm
  client: TestClient
  issuer: string
  refreshToken: string
  connection: Connection
  /** How many ID tokens were valid, by the key that signed them. */
  good: Map<string, number>
  accessTokens: string[]
}

let requests = 0
/** Sends each request for the issuer to another process; counts the reads of the key set. */
function balance(origins: string[]) {
  const reads = { count: 0 }
  const fetchFrom = (url: string, init: object): Promise<Response> => {
    const { pathname, search } = new URL(url)
    if (pathname.endsWith('/jwks.json')) reads.count += 1
    requests += 1
    return fetch(`${origins[requests % origins.length]}${pathname}${search}`, init)
  }
  return { reads, fetchFrom }
}

/** Refreshes the tokens; throws when the relying party, the resource server or the provider rejects them. */
async function useOnce(party: Party): Promise<void> {
  const { config, keys } = party.connection
  const tokens = await openid.refreshTokenGrant(config, party.refreshToken)
  party.refreshToken = tokens.refresh_token ?? ''
  await jwtVerify(tokens.access_token, keys, { issuer: party.issuer, typ: 'at+jwt' })
  await openid.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '')
  const { kid = '', alg } = decodeProtectedHeader(tokens.id_token ?? '')
  expect(alg).toBe(party.alg)
  party.good.set(kid, (party.good.get(kid) ?? 0) + 1)
  party.accessTokens.push(tokens.access_token)
}

/** `test` with two processes of the program, and relying parties that use both. */
const test = base
  .extend('issuer', { scope: 'file' }, ({ tenant }) => issuerOf(tenant))
  .extend('origins', { scope: 'file' }, async ({ tenant: _ }, { onCleanup }): Promise<string[]> => {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-rotation-'))
    const { DATABASE_URL, REDIS_URL, REDIS_PREFIX, ENCRYPTION_KEY, BASE_URL } = process.env
    const env = { DATABASE_URL, REDIS_URL, REDIS_PREFIX, ENCRYPTION_KEY, BASE_URL, DATA_DIR: directory }
    const servers = await Promise.all([startServer(env), startServer(env)])
    onCleanup(async () => {
      await Promise.all(servers.map((server) => server.stop()))
      await rm(directory, { recursive: true, force: true })
    })
    return servers.map(({ origin }) => origin)
  })
  /** Connects a relying party that verifies ID tokens by keys that it reads once, and its resource server. */
  .extend(
    'connect',
    { scope: 'file' },
    ({ issuer, origins }) =>
      async (client: TestClient, alg: SigningAlgorithm): Promise<Connection> => {
        const [relyingParty, resourceServer] = [balance(origins), balance(origins)]
        const config = await openid.discovery(
          new URL(issuer),
          client.id,
          { id_token_signed_response_alg: alg },
          openid.ClientSecretBasic(client.secret),
          {
            execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
            [openid.customFetch]: relyingParty.fetchFrom as openid.CustomFetch,
          },
        )
        const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''), {
          [customFetch]: resourceServer.fetchFrom,
          cooldownDuration: Number.POSITIVE_INFINITY,
          cacheMaxAge: Number.POSITIVE_INFINITY,
        })
        return { config, keys, reads: [relyingParty.reads, resourceServer.reads] }
      },
  )
  .extend(
    'startParty',
    { scope: 'file' },
    ({ issuer, newClient, visitor, connect }) =>
      async (alg: SigningAlgorithm): Promise<Party> => {
        const client = await newClient({ idTokenSigningAlg: alg })
        const tokens = await visitor.newTokens({ scope: 'openid offline_access' }, client)
        return {
          alg,
          client,
          issuer,
          refreshToken: tokens.refresh_token,
          connection: await connect(client, alg),
          good: new Map(),
          accessTokens: [],
        }
      },
  )
  /** Waits until every process publishes the keys. */
  .extend(
    'publishedEverywhere',
    { scope: 'file' },
    ({ tenant, origins }) =>
      async (kids: string[]): Promise<void> => {
        for (const origin of origins)
          for (;;) {
            const response = await fetch(`${origin}/${tenant}/.well-known/jwks.json`)
            const { keys } = (await response.json()) as { keys: JWK[] }
            if (kids.every((kid) => keys.some((key) => key.kid === kid))) break
            await sleep(20)
          }
      },
  )

const ACTIVATE_IN_SECONDS = 3

describe.runIf(hasServices)('a rotation under load', () => {
  test('fails no verification by a client that has read the keys between publication and activation', async ({
    tenant,
    issuer,
    origins,
    connect,
    startParty,
    publishedEverywhere,
  }) => {
    const parties = await Promise.all(SIGNING_ALGORITHMS.map((alg) => startParty(alg)))

    const failures: unknown[] = []
    let isOver = false
    const load = parties.map(async (party) => {
      while (!isOver) await useOnce(party).catch((error: unknown) => failures.push([party.alg, error]))
    })
    const until = async (isReached: (party: Party) => boolean) => {
      while (failures.length === 0 && !parties.every(isReached)) await sleep(20)
    }
    try {
      await until(({ good }) => good.size > 0)
      for (let round = 0; round < 2; round++) {
        const activation = { activateInSeconds: ACTIVATE_IN_SECONDS }
        const keys = await rotateSigningKeys(createPlatformCtx(tenant), activation)
        const next = keys.filter(({ expiresAt }) => expiresAt === null)
        await publishedEverywhere(next.map(({ kid }) => kid))
        // The cached keys have expired: openid-client keeps them for 300 s, which is less than the default
        // activation time.
        const connected = await Promise.all(parties.map(({ client, alg }) => connect(client, alg)))
        for (const [index, connection] of connected.entries())
          (parties[index] as Party).connection = connection
        const kidFor = ({ alg }: Party) => next.find((key) => key.alg === alg)?.kid ?? ''
        await until((party) => (party.good.get(kidFor(party)) ?? 0) >= 10)
        for (const { connection, alg } of parties)
          expect([failures, alg, ...connection.reads.map(({ count }) => count)]).toEqual([[], alg, 1, 1])
      }
    } finally {
      isOver = true
      await Promise.all(load)
    }
    expect(failures).toEqual([])
    // Tokens of all three keys are valid at every process, and by the keys that are published now.
    for (const party of parties) {
      expect(party.good.size).toBe(3)
      const { config, keys } = await connect(party.client, party.alg)
      for (const token of [party.accessTokens.at(0), party.accessTokens.at(-1)] as string[]) {
        await jwtVerify(token, keys, { issuer })
        for (const _ of origins) await openid.fetchUserInfo(config, token, openid.skipSubjectCheck)
      }
    }
  }, 120_000)
})
