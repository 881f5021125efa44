import { describe, expect, vi } from 'vitest'
import { REMAINING, test } from '../support/entry-points.ts'

// A port without a listener. It is set before the imports of src/, which read it.
vi.hoisted(() => {
  process.env.REDIS_URL = 'redis://127.0.0.1:1'
})

// The first test signs in a user for each change.
vi.setConfig({ testTimeout: 60_000 })

describe('one second after a revocation, while Redis is unreachable', () => {
  test.for(REMAINING)(
    '%s has closed its entry points and no others',
    ([change, remaining], { openAfter }) => {
      expect(openAfter.get(change)).toEqual(remaining)
    },
  )
})
