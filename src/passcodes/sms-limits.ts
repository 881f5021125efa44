import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { returnToLimit, takeFromLimit } from '../coordination/rate-limits.ts'
import { takeStorage } from '../coordination/storage-budgets.ts'
import { InvalidInput } from '../core/errors.ts'
import { countLimited } from '../core/metrics.ts'
import { hashAddress } from '../events/address-hash.ts'
import type { NewEvent } from '../events/create-event.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { SmsRefusal } from '../events/reasons.ts'
import { listPossibleCountries } from '../schema/phone-numbers.ts'
import { isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'

/**
 * Limits against pumping: text messages that are requested for the sake of their fees, usually to ranges of
 * numbers in a few countries.
 */

/** Operators assign numbers in blocks, of which the last digits are free. */
const FREE_DIGITS = 4
const toPrefixOwner = (tenant: string, number: string): string => `${tenant}:${number.slice(0, -FREE_DIGITS)}`

/** The part of the daily limit that strangers leave to browsers in which a number signed in before. */
const RESERVED_SHARE = 0.2

const EVENT_BYTES = 600

/** Whether text messages are sent to a number; to numbers of all countries if none is named. */
export function isPermittedNumber(number: string, countries: readonly string[]): boolean {
  if (countries.length === 0) return true
  const possible = listPossibleCountries(number)
  return possible.length > 0 && possible.every((country) => countries.includes(country))
}

function assertCountry(number: string, countries: string[], field: string): void {
  if (isPermittedNumber(number, countries)) return
  countLimited('smsCountry')
  throw new InvalidInput([
    { field, description: 'is a number of a country to which this tenant sends no text messages' },
  ])
}

type SmsRequest = {
  /** In E.164. */
  number: string
  /** The member of the input that has the number. */
  field: string
  /** The browser is one in which the number signed in before. */
  isKnown?: boolean
  toEvent: (reason: SmsRefusal) => NewEvent
}

/**
 * Counts a text message in the limits of the tenant, before anything about the person is read: the same for
 * known and unknown numbers. What is rejected is recorded, within the budget of the network. Throws InvalidInput
 * (the country) and RateLimited.
 */
export async function limitSms(ctx: Ctx, { number, field, isKnown, toEvent }: SmsRequest): Promise<void> {
  const tenant = await findTenant(ctx.tenant)
  if (!tenant) return
  const { smsCountries, smsPrefixLimit, smsDailyLimit } = tenant
  const daily = isKnown ? smsDailyLimit : Math.floor(smsDailyLimit * (1 - RESERVED_SHARE))
  let reason: SmsRefusal = 'country'
  try {
    assertCountry(number, smsCountries, field)
    reason = 'prefix'
    if (!isKnown) await takeFromLimit('smsPrefix', toPrefixOwner(ctx.tenant, number), smsPrefixLimit)
    reason = 'daily'
    await takeFromLimit('smsDay', ctx.tenant, daily)
  } catch (error) {
    if (reason === 'daily' && !isKnown) await returnSmsPrefix(ctx.tenant, number)
    await recordRefusedSms(ctx, toEvent(reason))
    throw error
  }
}

async function recordRefusedSms(ctx: Ctx, event: NewEvent): Promise<void> {
  if (await takeStorage('rejection', ctx, { bytes: EVENT_BYTES, what: event.type })) return
  await recordEvents(ctx.db, ctx, [event])
}

/** Returns messages to the limit of their prefix: their codes proved right. They were paid all the same. */
export const returnSmsPrefix = (tenant: string, number: string, messages = 1): Promise<void> =>
  returnToLimit('smsPrefix', toPrefixOwner(tenant, number), messages)

/** Returns a message that was not sent, for a known or an unknown number. */
export async function returnSms(tenant: string, number: string, { isKnown = false } = {}): Promise<void> {
  if (!isKnown) await returnSmsPrefix(tenant, number)
  await returnToLimit('smsDay', tenant)
}

/**
 * Counts a message in the limits of its channel and runs `store`. A message of which nothing is stored is returned to
 * them, for known and unknown addresses alike. Throws InvalidInput, RateLimited, and the errors of `store`.
 */
export async function withinMessageLimits<T>(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  origin: PasscodeOrigin,
  clientId: string | null,
  store: () => Promise<T | null>,
): Promise<T | null> {
  if (channel === 'email') return store()
  const isKnown = isKnownBrowser(origin)
  await limitSms(ctx, {
    number: key,
    field: 'to',
    isKnown,
    toEvent: (reason) =>
      createEvent(
        'signin.failed',
        { clientId, addressHash: hashAddress(ctx.tenant, key) },
        { method: 'passcode', channel, reason },
      ),
  })
  const returnMessage = () => returnSms(ctx.tenant, key, { isKnown })
  const stored = await store().catch(async (error) => {
    await returnMessage()
    throw error
  })
  if (stored === null) await returnMessage()
  return stored
}
