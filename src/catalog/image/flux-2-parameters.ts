import { integer } from '../parameter-schemas.ts'
import { aspectRatio, imageFormat, imageUrl, prompt, resolution, safetyTolerance, seed } from '../parameters.ts'

const ratios = ['1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3', '21:9']

const common = {
  resolution: resolution(
    'The size of the image in megapixels, which decides the price.',
    ['0.5 MP', '1 MP', '2 MP', '4 MP'],
    '1 MP',
  ),
  output_format: imageFormat(['jpeg', 'png', 'webp'], 'jpeg'),
  output_quality: integer('Output quality', 'The quality of JPEG and WebP files.', {
    minimum: 0,
    maximum: 100,
    default: 80,
  }),
  safety_tolerance: safetyTolerance(5, '2'),
  seed: seed('image'),
}

/** Text-to-image parameters of all FLUX.2 models. */
export const flux2TextToImage = {
  prompt: prompt('The content of the image.', 10_000),
  aspect_ratio: aspectRatio(ratios, '1:1'),
  ...common,
}

/** Image-to-image parameters of all FLUX.2 models. */
export const flux2ImageToImage = {
  prompt: prompt('The change to make to the image.', 10_000),
  image_url: imageUrl('The image to edit'),
  aspect_ratio: aspectRatio(['match_input_image', ...ratios], 'match_input_image'),
  ...common,
}
