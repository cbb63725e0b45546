"""The endpoint of the benchmark as one would write it by hand, with the L1 constructs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker

if TYPE_CHECKING:
    import aws_cdk as cdk

_IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"

_TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Action": "sts:AssumeRole",
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
        }
    ],
}

_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Action": [
                "logs:CreateLogGroup",
                "logs:CreateLogStream",
                "logs:DescribeLogStreams",
                "logs:PutLogEvents",
            ],
            "Effect": "Allow",
            "Resource": "arn:aws:logs:us-west-2:111122223333:log-group:/aws/sagemaker/Endpoints/*",
        },
        {
            "Action": "cloudwatch:PutMetricData",
            "Condition": {
                "StringEquals": {
                    "cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/Endpoints"]
                }
            },
            "Effect": "Allow",
            "Resource": "*",
        },
        {"Action": "ecr:GetAuthorizationToken", "Effect": "Allow", "Resource": "*"},
        {
            "Action": [
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            "Effect": "Allow",
            "Resource": "arn:aws:ecr:us-west-2:763104351884:repository/djl-inference",
        },
        {
            "Action": "s3:GetObject",
            "Effect": "Allow",
            "Resource": "arn:aws:s3:::my-models/qwen3-8b/*",
        },
        {
            "Action": "s3:ListBucket",
            "Condition": {"StringLike": {"s3:prefix": ["qwen3-8b/*"]}},
            "Effect": "Allow",
            "Resource": "arn:aws:s3:::my-models",
        },
    ],
}


class _Alarm(NamedTuple):
    metric_name: str
    statistic: str | None
    extended_statistic: str | None
    threshold: float
    description: str


_ALARMS = (
    _Alarm(
        "Invocation5XXErrors",
        "Average",
        None,
        0.01,
        "At least 1 % of requests fail in the container. Look at the endpoint's log for the"
        " engine's error; out of memory: shorter max_model_len or fewer requests at once.",
    ),
    _Alarm(
        "ModelLatency",
        None,
        "p99",
        30_000_000,
        "One request in 100 takes longer than 30 s. Look at ConcurrentRequestsPerModel: if it is"
        " high, add instances; if not, answers have become longer.",
    ),
)


def endpoint(stack: cdk.Stack, id: str) -> None:
    """Write the same endpoint with the L1 constructs, as one would by hand."""
    role = iam.CfnRole(
        stack,
        f"{id}Role",
        assume_role_policy_document=_TRUST,
        description="What an LMI model may do: pull its image, read its model, write logs and metrics",
        policies=[iam.CfnRole.PolicyProperty(policy_name="Execution", policy_document=_POLICY)],
    )
    model = sagemaker.CfnModel(
        stack,
        f"{id}Model",
        execution_role_arn=role.attr_arn,
        enable_network_isolation=True,
        primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
            image=_IMAGE,
            environment={"OPTION_MAX_ROLLING_BATCH_SIZE": "64"},
            model_data_source=sagemaker.CfnModel.ModelDataSourceProperty(
                s3_data_source=sagemaker.CfnModel.S3DataSourceProperty(
                    s3_uri="s3://my-models/qwen3-8b/",
                    s3_data_type="S3Prefix",
                    compression_type="None",
                )
            ),
        ),
    )
    config = sagemaker.CfnEndpointConfig(
        stack,
        f"{id}Config",
        production_variants=[
            sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                variant_name="AllTraffic",
                model_name=model.attr_model_name,
                instance_type="ml.g6.12xlarge",
                initial_instance_count=1,
                initial_variant_weight=1,
                inference_ami_version="al2023-ami-sagemaker-inference-gpu-4-1",
                container_startup_health_check_timeout_in_seconds=3600,
                model_data_download_timeout_in_seconds=3600,
                routing_config=sagemaker.CfnEndpointConfig.RoutingConfigProperty(
                    routing_strategy="LEAST_OUTSTANDING_REQUESTS"
                ),
            )
        ],
    )
    endpoint = sagemaker.CfnEndpoint(
        stack,
        id,
        endpoint_config_name=config.attr_endpoint_config_name,
        retain_all_variant_properties=True,
        exclude_retained_variant_properties=[
            sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type=kind)
            for kind in ("DesiredWeight", "DataCaptureConfig")
        ],
    )
    name = endpoint.attr_endpoint_name
    target = autoscaling.CfnScalableTarget(
        stack,
        f"{id}Scaling",
        service_namespace="sagemaker",
        scalable_dimension="sagemaker:variant:DesiredInstanceCount",
        resource_id=f"endpoint/{name}/variant/AllTraffic",
        min_capacity=1,
        max_capacity=4,
    )
    policy = autoscaling.CfnScalingPolicy
    policy(
        stack,
        f"{id}Concurrency",
        policy_name="Concurrency",
        policy_type="TargetTrackingScaling",
        scaling_target_id=target.ref,
        target_tracking_scaling_policy_configuration=policy.TargetTrackingScalingPolicyConfigurationProperty(
            target_value=38,
            predefined_metric_specification=policy.PredefinedMetricSpecificationProperty(
                predefined_metric_type="SageMakerVariantConcurrentRequestsPerModelHighResolution"
            ),
            scale_in_cooldown=300,
            scale_out_cooldown=1200,
        ),
    )
    for alarm in _ALARMS:
        cloudwatch.CfnAlarm(
            stack,
            f"{id}{alarm.metric_name}",
            alarm_description=alarm.description,
            comparison_operator="GreaterThanOrEqualToThreshold",
            datapoints_to_alarm=3,
            dimensions=[
                cloudwatch.CfnAlarm.DimensionProperty(name="EndpointName", value=name),
                cloudwatch.CfnAlarm.DimensionProperty(name="VariantName", value="AllTraffic"),
            ],
            evaluation_periods=3,
            metric_name=alarm.metric_name,
            namespace="AWS/SageMaker",
            period=60,
            statistic=alarm.statistic,
            extended_statistic=alarm.extended_statistic,
            threshold=alarm.threshold,
            treat_missing_data="notBreaching",
        )
