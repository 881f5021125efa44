import { listUnknownVariables, variableIssues } from '../../core/env.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ACTION = 'Correct the variable: .env.example describes each.'

/** The variables of this process: those that are not valid or missing, and those that look misspelled. */
export async function checkConfiguration(): Promise<Finding[]> {
  const findings = [
    ...variableIssues.map((issue) => fail('configuration', issue, ACTION)),
    ...listUnknownVariables().map((warning) => warn('configuration', warning, ACTION)),
  ]
  return findings.length > 0 ? findings : [ok('configuration', 'all variables are valid')]
}
