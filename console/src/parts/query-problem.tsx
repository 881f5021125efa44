import { ApiError } from '../api/api-error.ts'
import { CopiedText } from './copied-text.tsx'

/** Why a list or a part of a screen is missing, and a button that asks for it again. */
export const QueryProblem = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <div className="problem" role="alert">
    <p>{error instanceof Error ? error.message : String(error)}</p>
    {error instanceof ApiError && error.requestId && (
      <p>
        Number of the request: <CopiedText text={error.requestId} />
      </p>
    )}
    <button type="button" className="button quiet" onClick={onRetry}>
      Try again
    </button>
  </div>
)
