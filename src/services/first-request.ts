/** Models that need nothing but a prompt, the best to begin with first. */
export const FIRST_MODELS = ['nano-banana-2', 'gpt-image-2-6', 'z-image-turbo', 'gpt-6-1-terra', 'claude-haiku-4-5']

/** The body of a first run, of the best of the models that can be run. */
export const firstRun = (models: readonly string[]): string => {
  const model = FIRST_MODELS.find(each => models.includes(each)) ?? models[0] ?? FIRST_MODELS[0]
  return `{"model": "${model}", "input": {"prompt": "a quiet mountain lake at sunrise"}}`
}

/** The lines of a `curl` command that runs a model. */
export const firstCurl = (url: string, apiKey: string, run: string): string[] => [
  `curl -s ${url}/v1/run -H 'Authorization: Bearer ${apiKey}' \\`,
  "  -H 'Content-Type: application/json' \\",
  `  -d '${run}'`,
]
