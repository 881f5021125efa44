import { InvalidCredential } from '../core/errors.ts'

/** Why a code is not accepted, whether or not the address is known. A used code counts as expired. */
export type CodeProblem = 'wrong' | 'expired' | 'exhausted'

/**
 * The error of a code that is not accepted. Its message is the same for every reason; hosted pages tell the
 * person what to do by `problem`.
 */
export class RejectedCode extends InvalidCredential {
  readonly problem: CodeProblem

  constructor(problem: CodeProblem) {
    super('The code is wrong or has expired.')
    this.name = 'InvalidCredential'
    this.problem = problem
  }
}
