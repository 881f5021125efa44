import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { deployment } from '../../config.ts'
import type { providerTestMutation } from '../../generated/providerTestMutation.graphql.ts'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t } from '../../words/words.ts'
import './providers.css'

const CHECK_WORDS: Readonly<Record<string, string>> = {
  FIELDS: t('Fields'),
  DISCOVERY: t('Metadata'),
  KEYS: t('Keys'),
  AUTHORIZATION: t('Authorization endpoint'),
  TOKEN: t('Token endpoint'),
  USERINFO: t('Userinfo endpoint'),
  CLIENT: t('Client id and secret'),
}
const STATUS_WORDS: Readonly<Record<string, readonly [sign: string, word: string, kind: string]>> = {
  PASSED: ['✓', t('passed'), 'calm'],
  FAILED: ['✕', t('failed'), 'danger'],
  UNKNOWN: ['?', t('unknown'), ''],
}

/** Asks the provider as a sign-in would, and says what was found. */
export function ProviderTest({ idpId, mayConnect = false }: { idpId: string; mayConnect?: boolean }) {
  const [result, setResult] = useState<providerTestMutation['response']['testIdentityProvider'] | null>(null)
  const test = useProblemMutation<providerTestMutation>(graphql`
    mutation providerTestMutation($idpId: ID!) {
      testIdentityProvider(input: { idpId: $idpId }) {
        ... on TestIdentityProviderPayload {
          succeeded
          findings {
            check
            status
            cause
            description
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <div className="test">
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={test.isRunning}
          onClick={() => test.run({ idpId }, (response) => setResult(response.testIdentityProvider))}
        >
          {test.isRunning ? t('Asking the provider…') : t('Test')}
        </button>
        {mayConnect && (
          <a
            className="button quiet"
            href={`${deployment.issuer}/account/sign-in-methods`}
            target="_blank"
            rel="noreferrer"
          >
            {t('Connect my own account ↗')}
          </a>
        )}
      </div>
      <ProblemText problem={test.problem} />
      <div role="status">
        {result?.findings && (
          <>
            <p>
              {result.succeeded
                ? t(
                    'Nothing failed. A sign-in also needs the callback URL to be registered there, which only a sign-in shows.',
                  )
                : t('A sign-in fails.')}
            </p>
            <ul className="findings">
              {result.findings.map(({ check, status, description }) => {
                const [sign = '?', word = status, kind = ''] = STATUS_WORDS[status] ?? []
                return (
                  <li key={check}>
                    <span className={`badge ${kind}`}>
                      <span aria-hidden="true">{sign}</span> {word}
                    </span>
                    <span>
                      <strong>{CHECK_WORDS[check] ?? check}:</strong> {description}
                    </span>
                  </li>
                )
              })}
            </ul>
          </>
        )}
      </div>
    </div>
  )
}
