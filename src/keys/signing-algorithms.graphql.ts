import { builder } from '../graphql/builder.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from './signing-algorithms.ts'

export const SigningAlgorithmEnum = builder.enumType('SigningAlgorithm', {
  description: 'A JWS algorithm (RFC 7518, RFC 8037).',
  values: Object.fromEntries(
    SIGNING_ALGORITHMS.map((alg) => [alg.toUpperCase(), { value: alg, description: `alg=${alg}.` }]),
  ) as Record<Uppercase<SigningAlgorithm>, { value: SigningAlgorithm; description: string }>,
})
