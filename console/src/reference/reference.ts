import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import { deployment } from '../config.ts'

document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches)

SwaggerUI({
  url: `${deployment.issuer}/api/v1/openapi.json`,
  domNode: document.getElementById('reference'),
  // The validator is on another server.
  validatorUrl: null,
  deepLinking: true,
  filter: true,
  // All operations take a second to be shown.
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
})
