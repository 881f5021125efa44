import { describe, expect, vi } from 'vitest'
import { REMAINING, test } from '../support/entry-points.ts'

// Before the imports of src/, which read it.
vi.hoisted(() => {
  delete process.env.REDIS_URL
})

// The first test signs in a user for each change.
vi.setConfig({ testTimeout: 60_000 })

describe('one second after a revocation, without Redis', () => {
  test.for(REMAINING)(
    '%s has closed its entry points and no others',
    ([change, remaining], { openAfter }) => {
      expect(openAfter.get(change)).toEqual(remaining)
    },
  )
})
