import { ApiError } from '../api/api-error.ts'
import { t } from '../words/words.ts'
import { CopiedText } from './copied-text.tsx'

/** Why a list or a part of a screen is missing, and a button that asks for it again. */
export const QueryProblem = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <div className="problem" role="alert">
    <p>{error instanceof Error ? error.message : String(error)}</p>
    {error instanceof ApiError && error.requestId && (
      <p>
        {t('Number of the request:')} <CopiedText text={error.requestId} />
      </p>
    )}
    <button type="button" className="button quiet" onClick={onRetry}>
      {t('Try again')}
    </button>
  </div>
)
