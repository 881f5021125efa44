import { setTimeout as sleep } from 'node:timers/promises'
import { jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/core/context.ts'
import { rotateSigningKeys } from '../../src/keys/key-rotation.ts'
import { SIGNING_ALGORITHMS } from '../../src/keys/signing-algorithms.ts'
import { type Party, test, useOnce } from '../support/rotation-load.ts'

const ACTIVATE_IN_SECONDS = 3

describe('a rotation under load', () => {
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
