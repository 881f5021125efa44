import { getDatamodel } from '../generated/pothos.ts'

type Documented = { name?: string; documentation?: string }
type DocumentedModel = Documented & { fields: readonly Documented[] }

let models: Record<string, DocumentedModel> | undefined

/** The description of the shape of a field. */
export const getShapeDescription = (shape: { meta: () => { description?: string } | undefined }): string =>
  shape.meta()?.description ?? ''

/** What the `///` of schema.prisma say of a model, or of a field of it; undefined where they say nothing. */
export function findDescription(model: string, field?: string): string | undefined {
  models ??= getDatamodel().datamodel.models
  const found = models[model]
  return field === undefined
    ? found?.documentation
    : found?.fields.find(({ name }) => name === field)?.documentation
}
