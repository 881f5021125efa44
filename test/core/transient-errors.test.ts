import { describe, expect, test } from 'vitest'
import { isTransientError } from '../../src/core/transient-errors.ts'

const errorWith = (more: object, message = 'failed') => Object.assign(new Error(message), more)

describe('an error', () => {
  test.each([
    ['08006', 'a lost connection'],
    ['25006', 'a server that only reads, after a fail-over'],
    ['26000', 'a pooler without prepared statements'],
    ['40001', 'a conflict of transactions'],
    ['53100', 'a full disk'],
    ['53300', 'too many connections'],
    ['57P01', 'a shutdown'],
    ['57P03', 'a start'],
    ['58030', 'a failed read'],
    ['P1001', 'an unreachable server (Prisma)'],
    ['P2024', 'no free connection (Prisma)'],
    ['ETIMEDOUT', 'a silent connection'],
    ['EPIPE', 'a closed connection'],
  ])('with code %s is transient: %s', (code) => {
    expect(isTransientError(errorWith({ code }))).toBe(true)
  })

  test.each(['23505', '42601', '42P01', '22P02', 'P2002', 'P2025', 'ERR_INVALID_ARG_TYPE', 'ENOENT'])(
    'with code %s is not transient',
    (code) => {
      expect(isTransientError(errorWith({ code }))).toBe(false)
    },
  )

  test('of Prisma is transient by the code of the driver', () => {
    const meta = { driverAdapterError: { cause: { originalCode: '57P01', kind: 'postgres' } } }
    expect(isTransientError(errorWith({ code: 'P2010', meta }))).toBe(true)
  })

  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
  ])('of pg without a code is transient: %s', (message) => {
    expect(isTransientError(new Error(message))).toBe(true)
  })
})
