import { describe } from 'vitest'
import { describeClaims } from '../support/conformance-claims.ts'
import { describeRequests } from '../support/conformance-requests.ts'
import { describeSignIns } from '../support/conformance-sign-in.ts'
import { makePlanTest } from '../support/conformance-test.ts'
import { describeTokens } from '../support/conformance-tokens.ts'

// oidcc-formpost-basic-certification-test-plan of the OpenID Foundation, for a client that is registered
// statically. Each test has the name of the module whose conditions it checks.

const test = makePlanTest('form_post')

describe('the plan Form Post Basic', () => {
  describeSignIns(test)
  describeRequests(test)
  describeTokens(test)
  describeClaims(test)
})
