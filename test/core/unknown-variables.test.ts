import { describe, expect, test } from 'vitest'
import { findUnknownVariables } from '../../src/core/unknown-variables.ts'

const NAMES = ['DATABASE_URL', 'DATA_DIR', 'REDIS_URL', 'SMTP_URL', 'WORKERS', 'PORT', 'ENCRYPTION_KEY']

describe('findUnknownVariables', () => {
  test.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['ENCRYPTOIN_KEY', 'ENCRYPTION_KEY'],
    ['SMTP_URI', 'SMTP_URL'],
    ['WORKER', 'WORKERS'],
    ['redis_url', 'REDIS_URL'],
  ])('warns of %s, which looks like %s, without its value', (given, meant) => {
    expect(findUnknownVariables({ [given]: 'a secret' }, NAMES)).toEqual([
      `${given} is not a variable of Vestibule; ${meant} is`,
    ])
  })

  test('warns of a variable that an earlier version had', () => {
    expect(findUnknownVariables({ METRICS: '1' }, NAMES)).toEqual([
      'METRICS was replaced by METRICS_PORT and METRICS_TOKEN',
    ])
  })

  test('is silent about known, empty and unrelated variables', () => {
    const source = {
      REDIS_URL: 'x',
      DATABSE_URL: '',
      PATH: 'x',
      PORTS: 'x',
      HOSTNAME: 'x',
      LC_ALL: 'x',
      PGHOST: 'x',
    }
    expect(findUnknownVariables(source, NAMES)).toEqual([])
  })
})
