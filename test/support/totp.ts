import { createHmac } from 'node:crypto'
import type { Ctx } from '../../src/context/context.ts'
import {
  finishTotpEnrollment,
  startTotpEnrollment,
} from '../../src/credentials/second-factors/totp-enrollment.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** The code of an authenticator app (RFC 6238, RFC 4226, section 5.3), apart from the library of the server. */
export function computeTotp(secret: string, at: Date = new Date()): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at.getTime() / 30_000)))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) as number) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** A code that an app shows at no time within an hour. */
export function computeWrongTotp(secret: string, at: Date = new Date()): string {
  const shown = new Set(
    Array.from({ length: 241 }, (_, step) =>
      computeTotp(secret, new Date(at.getTime() + (step - 120) * 30_000)),
    ),
  )
  return ['000000', '111111', ...Array.from({ length: 300 }, (_, index) => String(index + 222_222))].find(
    (code) => !shown.has(code),
  ) as string
}

/** An authenticator app of a user. */
export type Totp = { credentialId: string; secret: string }

/** Enrolls an authenticator app of a user, by a code of an earlier time step: codes of now are not used. */
export async function enrollTotp(ctx: Ctx, userId: string): Promise<Totp> {
  const earlier = new Date(Date.now() - 120_000)
  const owner = { userId, place: 'test' }
  const { token, secret } = await startTotpEnrollment(ctx, owner, 'ada', earlier)
  const code = computeTotp(secret, earlier)
  return { secret, ...(await finishTotpEnrollment(ctx, owner, { token, code }, earlier)) }
}
